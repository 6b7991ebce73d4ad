from isthmus.blocks.folding import fold as fold
from isthmus.blocks.folding import row_blocks as row_blocks
from isthmus.blocks.moments import Moments as Moments
from isthmus.blocks.moments import map_block as map_block
from isthmus.blocks.moments import merge as merge
from isthmus.blocks.sampling import sample_rows as sample_rows
from isthmus.blocks.slices import block_slices as block_slices
