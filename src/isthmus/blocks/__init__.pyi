from isthmus.blocks.moments import Moments as Moments
from isthmus.blocks.moments import map_block as map_block
from isthmus.blocks.moments import merge as merge
from isthmus.blocks.slices import block_slices as block_slices
