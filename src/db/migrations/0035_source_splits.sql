-- The sources that stood for this one until somebody took that back: they are not suggested again.
alter table sources add column split_from int[] not null default '{}';
