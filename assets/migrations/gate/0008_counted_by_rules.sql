-- The counts of what waits and what happened are kept by the gate's own statements (src/gate/store/ops), on every database alike.

DROP TRIGGER actions_arrive;
DROP TRIGGER actions_leave;
DROP TRIGGER actions_wait;
DROP TRIGGER actions_wait_no_more;
DROP TRIGGER audit_is_counted;
