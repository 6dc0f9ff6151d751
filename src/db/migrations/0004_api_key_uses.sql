-- When each key was last used, in a separate table: a role that may update a column of api_keys may also lock its rows, and so
-- block the revocation of keys. The column api_keys.last_used stays for Workers of earlier versions, but is no longer written.
-- Such a Worker continues to work: it only logs that its update is refused.
create table api_key_uses (
  keyid     uuid primary key references api_keys,
  last_used timestamptz not null
);

insert into api_key_uses (keyid, last_used)
select id, last_used from api_keys where last_used is not null;

revoke update (last_used) on api_keys from survey_export_worker;
-- By column, because UPDATE on a whole table includes LOCK TABLE in every mode.
grant select, insert (keyid, last_used), update (last_used) on api_key_uses to survey_export_worker;
