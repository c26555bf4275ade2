"""Hold one scene's plan as a value, what such a scene can be asked, and shares in whole numbers."""
