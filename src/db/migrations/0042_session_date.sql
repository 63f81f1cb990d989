-- The day that the prompts of a session call today (YYYY-MM-DD); null in sessions of earlier releases.
alter table sessions add column session_date text
  check (session_date ~ '^\d{4}-\d{2}-\d{2}$');
