"""Which of the two databases a session is of, where both need statements of their own."""

from sqlalchemy.orm import Session


def is_sqlite(session: Session) -> bool:
    """Whether the session's database is SQLite, not PostgreSQL."""
    return session.get_bind().dialect.name == "sqlite"
