from isthmus.smoothers.adapters import as_smoother as as_smoother
from isthmus.smoothers.density_kernels import DensityKernel as DensityKernel
from isthmus.smoothers.density_kernels import density_kernel as density_kernel
from isthmus.smoothers.left_out import left_out_weights as left_out_weights
