-- A session that is awaiting_review says why it rests. Until now null meant a review.

-- Policies hold for the owner of a table, too, unless it is the superuser: it must see all rows here.
alter table sessions no force row level security;
update sessions set awaiting = 'review' where status = 'awaiting_review' and awaiting is null;
alter table sessions force row level security,
  add constraint sessions_say_what_they_await
    check (status <> 'awaiting_review' or awaiting is not null);
