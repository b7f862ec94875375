"""The rows of the manifest."""
STATEMENTS: dict[str, str] = {}
PATTERNS: dict[str, str] = {}
TRAPS: dict[str, tuple[str, str]] = {}
