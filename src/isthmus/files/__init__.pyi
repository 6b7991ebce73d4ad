from isthmus.files.contents import FileContents as FileContents
from isthmus.files.contents import ModelFileError as ModelFileError
from isthmus.files.contents import list_contents as list_contents
from isthmus.files.store import load as load
from isthmus.files.store import save as save
