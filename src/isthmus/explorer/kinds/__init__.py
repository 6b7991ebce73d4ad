"""Objects as what they are: images, curves, bars, words, graphs, postures, strokes, numbers."""
