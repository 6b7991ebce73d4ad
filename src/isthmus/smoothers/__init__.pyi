from isthmus.smoothers.density_kernels import DensityKernel as DensityKernel
from isthmus.smoothers.density_kernels import density_kernel as density_kernel
