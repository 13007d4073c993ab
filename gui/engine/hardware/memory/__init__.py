"""How much memory of the GPU a training needs, before it is launched."""
