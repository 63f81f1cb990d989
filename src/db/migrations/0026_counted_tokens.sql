-- A request's tokens by the public tokenizer. Beside input_tokens, which the provider reported, they
-- tell how a model counts. Null where nothing was counted.
alter table model_calls add column counted_tokens int check (counted_tokens >= 0);
