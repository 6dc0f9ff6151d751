-- The Worker gives up on a query after at most 60 s, and uses no transactions. What is left running after that is not its own, or
-- its client has disappeared.
-- As with the role itself, another database of the cluster may have done this already, or be doing it now.
do $$
begin
  if not exists (select from pg_roles where rolname = 'survey_export_worker' and 'statement_timeout=65s' = any (rolconfig)) then
    alter role survey_export_worker set statement_timeout = '65s';
    alter role survey_export_worker set idle_in_transaction_session_timeout = '65s';
  end if;
exception when insufficient_privilege or internal_error then
  null;
end
$$;
