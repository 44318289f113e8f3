/// The forms of secrets that have one: how a secret of each is called, what it begins with, and its shape (see
/// `SecretForm`).
///
/// Learned from the documentation of those who issue them and from what gitleaks and others recognize; tokens without a
/// form of their own are only found behind a name that says so (`NamedSecret`).
enum SecretForms {
    /// A line each; ␣ stands for a space.
    private static let table = #"""
        a Ubiquity token | ubq_ | T43
        a Ubiquity pairing line | ubiquity:// Ubiquity:// UBIQUITY:// | G34
        a GitHub token | ghp_ gho_ ghu_ ghs_ ghr_ | W30
        a GitHub token | github_pat_ | W22
        a GitLab token | glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- GR1348941 | T20
        a GitLab session | _gitlab_session= | L32
        an AWS access key | AKIA ASIA ABIA ACCA | U16
        a Google API key | AIza | T35
        a Google OAuth secret | GOCSPX- ya29. | T20
        a Google OAuth secret | 1//0 | T40
        an Azure storage key | AccountKey= SharedAccessKey= | B40
        an Azure shared access signature | ?sig= &sig= | Q40
        an Azure client secret | Q~ | <S4 T31 mixed
        an Azure key | +ASt +ABa ACDb +AMC | <B76 B6 '== .
        an Azure key | AzSe AzFu AzCa | <T40 T5
        an Azure key | JQQJ99 | <A50 A20
        an Azure DevOps token | AZDO | <A70 A4
        an API key | sk-ant- sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf- | T20
        an API key | sk- | A32 mixed
        an API key | xai- gsk_ pplx- csk- pcsk_ jina_ tgp_v1_ nvapi- | T40
        an API key | r8_ | A37
        an API key | tvly- | T24 mixed
        an API key | fc- | H32
        an API key | lsv2_pt_ lsv2_sk_ | X32
        an API key | sk_ | H48
        a Hugging Face token | hf_ api_org_ | W30
        a Slack token | xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxe.xox xoxo- xoxc- xoxd- xapp- | T10
        a Slack webhook | hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/ | G30
        a Discord webhook | discord.com/api/webhooks/ discordapp.com/api/webhooks/ | D17 '/ T60
        a Teams webhook | .webhook.office.com/webhookb2/ | <L1 G60
        a Telegram token | :AA | <D8 T33
        a Stripe key | sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ | W16
        a Stripe key | whsec_ | B24
        a Square token | sq0atp- sq0csp- | T22
        a Square token | EAAA | T60
        a Facebook token | EAA | A90
        a PayPal token | access_token$production$ access_token$sandbox$ | L16
        a Shopify token | shpat_ shpca_ shppa_ shpss_ shptka_ | X32
        an npm token | npm_ | W36
        a PyPI token | pypi-AgE | T16
        a RubyGems token | rubygems_ | H48
        a NuGet key | oy2 | L43 mixed .
        a crates.io token | cio | A32 mixed .
        a Clojars token | CLOJARS_ | A60
        a Docker token | dckr_pat_ dckr_oat_ | T27
        an Artifactory token | AKCp | A60
        an Artifactory token | cmVmd | A59
        a DigitalOcean token | dop_v1_ doo_v1_ dor_v1_ | W60
        a Heroku token | HRKU- | T36
        a Fly.io token | fo1_ | T43
        a Fly.io token | fm1a_ fm1r_ fm2_ | B80
        a Netlify token | nfp_ nfc_ nfo_ nfu_ | A36
        a Vercel token | vcp_ vci_ vca_ vcr_ vck_ | A24
        a Render token | rnd_ | A28
        a Cloudflare key | v1.0- | H24 '- H100
        a Supabase key | sbp_ sb_secret_ | W22 mixed
        a Neon token | napi_ | L40
        a PlanetScale token | pscale_tkn_ pscale_oauth_ pscale_pw_ | S32
        a MongoDB Atlas key | mdb_sa_sk_ | T40
        a Doppler token | dp.pt. dp.ct. dp.sa. dp.st. dp.scim. dp.audit. | S40
        a 1Password token | ops_eyJ | B80
        a 1Password secret key | A3- | U6 '- U11 '- U5 '- U5 '- U5
        a 1Password secret key | A3- | U6 '- U6 '- U5 '- U5 '- U5 '- U5
        a Bitwarden token | 0. | H8 '- H4 '- H4 '- H4 '- H12 '. A30
        a Vault token | hvs. hvb. hvr. | T24
        a Vault token | s. | A24 mixed .
        a Terraform token | .atlasv1. | <A14 S60
        a Pulumi token | pul- | H40
        a Databricks token | dapi dkea dose | H32
        a dbt token | dbtc_ dbtu_ | T32
        a Grafana token | glc_ | B32
        a Grafana token | glsa_ | A32 '_ X8
        a Grafana token | eyJrIjoi | B70
        a New Relic key | NRAK- NRII- NRAA- NRRA- NRIQ- | T27
        a New Relic key | NRJS- | H19
        a New Relic key | NRAL | <H36 .
        a Sentry token | sntrys_ | B40
        a Sentry token | sntryu_ | H64
        a Honeycomb key | hcaik_ hcbik_ hcxik_ | A50
        a Dynatrace token | dt0c01. dt0s01. dt0s16. | U24 '. U64
        a Postman key | PMAK- | H24 '- H34
        a Linear key | lin_api_ lin_oauth_ | A40
        a Notion token | ntn_ | A40
        a Notion token | secret_ | A43 mixed .
        an Atlassian token | ATATT3 ATCTT3 | S100
        an Atlassian token | ATBB ATOA | A32 mixed
        an Asana token | 2/ | D16 '/ D16 ': H32
        an Asana token | 1/ | D16 ': H32
        a Figma token | figd_ figdr_ figu_ figur_ | T40
        an Airtable token | pat | A14 '. H64
        a HubSpot token | pat-na1- pat-na2- pat-eu1- pat-ap1- | T36
        an Intercom token | dG9rO | B50
        a Mailgun key | key- | H32 .
        a Mailchimp key | -us | <H32 D1
        a SendGrid key | SG. | T16 '. T30
        a Brevo key | xkeysib- xsmtpsib- | H64
        a Resend key | re_ | A8 '_ A20
        a Twilio key | SK | H32 mixed .
        a Plaid token | access-production- access-sandbox- access-development- | H8 '- H4 '- H4 '- H4 '- H12
        a Shippo token | shippo_live_ shippo_test_ | X40
        an EasyPost key | EZAK EZTK | A54
        a Duffel token | duffel_test_ duffel_live_ | S43
        a Flutterwave key | FLWSECK- FLWSECK_TEST- | A12
        a Mapbox token | sk.eyJ | S60
        a Contentful token | CFPAT- | T43
        a Frame.io token | fio-u- | S60
        a Typeform token | tfp_ | S50
        a ReadMe key | rdme_ | L60
        a Prefect token | pnu_ pnb_ | A36
        a Sourcegraph token | sgp_ slk_ | W40
        a Snyk token | snyk_uat. snyk_sat. | T8 '. T40
        a SonarQube token | sqp_ squ_ sqa_ | H40
        a CircleCI token | CCIPAT_ CCIPRJ_ | A22 '_ H40
        a Buildkite token | bkua_ | H40
        an Octopus key | API- | U26 mixed .
        a Harness token | pat. sat. | T22 '. A24 '. A20
        a LaunchDarkly key | sdk- | H8 '- H4 '- H4 '- H4 '- H12
        a Scalingo token | tk-us- | T48
        an Infracost token | ico- | A32
        a Tailscale key | tskey- | T20
        an Akamai token | akab- | L16 '- L16
        an Alibaba key | LTAI | A20 mixed .
        a Tencent key | AKID | A32 mixed
        a Yandex key | AQVN | T35
        a Yandex token | y0_ | T50
        a Dropbox token | sl. | T100
        a Salesforce token | 00D | A12 '! S60
        an Adobe secret | p8e- p8- | A32
        an OpenShift token | sha256~ | T43
        a Stytch secret | secret-live- secret-test- | T30
        a MaxMind key | _mmk | <W36 .
        an Authorization header | Bearer␣ | S20 mixed
        an Authorization header | Basic␣ | Q16 mixed
        an age secret key | AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1 | U50
        a one-time password secret | otpauth:// otpauth-migration:// | G8
        a private key | PuTTY-User-Key-File- | D1 ': G0
        a private key | b3BlbnNzaC1rZXktdjE | B60
        """#

    static let all: [SecretForm] = table.split(separator: "\n").flatMap { line in
        let columns = line.split(separator: "|").map {
            String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        return columns[1].split(separator: " ").map {
            SecretForm(name: columns[0], beginning: String($0).replacing("␣", with: " "), shape: columns[2])
        }
    }

    /// The forms by the first two bytes of their beginnings.
    static let byBeginning: [UInt16: [SecretForm]] = Dictionary(grouping: all) {
        UInt16($0.beginning[0]) << 8 | UInt16($0.beginning[1])
    }

    static let firstBytes = ByteSet(all.map { $0.beginning[0] })
}
