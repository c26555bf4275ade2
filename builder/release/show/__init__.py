"""What a person is told of plans, builds and releases; nothing here makes bytes of a release."""
