-- Replaced by find_due() and claim_places() (functions/job-claim.sql).
drop function if exists claim_due(uuid, uuid[], uuid[], int, int, interval);
