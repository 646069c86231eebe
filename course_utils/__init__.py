"""The tested code behind the course: the shop, the models, the retrievers, the teaching."""

__version__ = "0.1.0"
