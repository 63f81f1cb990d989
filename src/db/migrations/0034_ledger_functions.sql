-- Replaced by functions with other arguments (functions/ledger-*.sql).
drop function if exists lock_payer(uuid, uuid, text);
drop function if exists release_hold(holds, text);
drop function if exists charge(uuid, bigint, uuid, text, text, bigint);
