from isthmus.explorer.opening import Page as Page
from isthmus.explorer.opening import explore as explore
