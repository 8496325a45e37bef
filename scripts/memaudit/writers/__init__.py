"""Writers: importing this package fills the registry."""
