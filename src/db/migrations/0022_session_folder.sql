-- The folder on disk that a session is written to, as an absolute path on the machine that started it;
-- null where nobody named one.
alter table sessions add column folder text;
