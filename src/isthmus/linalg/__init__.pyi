from isthmus.linalg.centering import center_gram as center_gram
from isthmus.linalg.ridge import RidgePath as RidgePath
from isthmus.linalg.ridge import solve_positive as solve_positive
from isthmus.linalg.signs import fix_signs as fix_signs
from isthmus.linalg.spectrum import inverse_root as inverse_root
from isthmus.linalg.spectrum import leading_eigenpairs as leading_eigenpairs
from isthmus.linalg.spectrum import positive_part as positive_part
