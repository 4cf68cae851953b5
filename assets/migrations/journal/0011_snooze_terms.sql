-- What was agreed to besides the content when it was snoozed, where that was known: a change of it brings the action back, too.
ALTER TABLE snooze ADD COLUMN terms TEXT;
