# A place to try releases. Its domain is one of yours, and somebody reads mails to alert_email.
domain         = "staging.keepsake.example.org"
alert_email    = "operators@example.org"
monthly_budget = 100
backup_weeks   = 1
sign_up        = true
