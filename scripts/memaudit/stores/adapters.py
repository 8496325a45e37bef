"""All adapters, registered: import this module before asking the registry."""

from . import amem, generic, graphiti, langgraph, letta, markdown, mcp_memory, mem0, written  # noqa: F401
from .registry import ADAPTERS  # noqa: F401
