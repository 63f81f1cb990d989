-- Changes of status that are not allowed are refused by the statement that tells of them.
drop trigger if exists jobs_transition on jobs;
drop function if exists refuse_transition();
