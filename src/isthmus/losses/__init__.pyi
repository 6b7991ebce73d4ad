from isthmus.losses.residuals import Absolute as Absolute
from isthmus.losses.residuals import EpsilonInsensitive as EpsilonInsensitive
from isthmus.losses.residuals import Huber as Huber
from isthmus.losses.residuals import Logistic as Logistic
from isthmus.losses.residuals import Loss as Loss
from isthmus.losses.residuals import Quantile as Quantile
from isthmus.losses.residuals import Squared as Squared
