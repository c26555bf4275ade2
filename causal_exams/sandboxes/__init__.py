"""Where a model's commands run: the image's recipe, and the sandbox without a container engine."""
