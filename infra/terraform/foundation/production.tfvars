# Where people are. Its domain is one of yours, and somebody reads mails to alert_email.
domain         = "keepsake.example.org"
alert_email    = "operators@example.org"
monthly_budget = 1000
backup_weeks   = 4
sign_up        = false
