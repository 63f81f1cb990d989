-- Replaced by functions and triggers that take what several calls left at once (functions/*.sql).
drop trigger if exists entries_balanced on entries;
drop trigger if exists entries_book on entries;
drop function if exists check_balanced();
drop function if exists book_entry();
drop function if exists charge(holds, bigint, bigint, bigint);
drop function if exists release_hold(holds, bigint, bigint);
drop function if exists lock_payers_of(uuid, uuid, text);
drop function if exists post_call(uuid, uuid, text, bigint, bigint, boolean, jsonb);
drop function if exists hold_lease(uuid, uuid);
drop trigger if exists contributions_creation_events on contributions;
drop trigger if exists model_calls_change_events on model_calls;
drop trigger if exists documents_creation_events on documents;
drop trigger if exists documents_change_events on documents;
drop function if exists tell_contribution();
drop function if exists tell_call_end();
drop function if exists tell_document();
