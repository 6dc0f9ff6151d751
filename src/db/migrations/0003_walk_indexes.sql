-- If a survey is most of the table, Postgres would count its responses by scanning the table, and wait for the disk although
-- the index is in memory. Every query of the Worker has an index.
-- As with the role itself, another database of the cluster may have done this already, or be doing it now.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker' and 'enable_seqscan=off' = any (rolconfig)) then
    alter role survey_export_worker set enable_seqscan = off;
  end if;
exception when insufficient_privilege or internal_error then
  null;
end
$$;
