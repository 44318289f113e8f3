/// Names under which anybody may have a host. An authority for one of them could pose as all of these hosts to a device
/// that trusts it.
///
/// A rule in place of the list at publicsuffix.org, which has ten thousand lines: it knows what people have at home by
/// mistake, and need not know the rest.
enum PublicSuffix {
    static func contains(_ name: String) -> Bool {
        let labels = name.split(separator: ".").map(String.init)
        switch labels.count {
        case 1:
            // Other names of one label are hosts of a network without a domain.
            return countries.contains(name) || topLevel.contains(name) || local.contains(name)
        case 2:
            return countries.contains(labels[1]) && secondLevel.contains(labels[0]) || shared.contains(name)
        default: return shared.contains(name)
        }
    }

    /// Where the hosts of a network without a domain are: each device in it is one of them.
    private static let local: Set = ["local", "lan", "home", "internal", "intranet", "corp", "localdomain"]

    private static let countries = Set(
        """
        ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca \
        cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr \
        ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm \
        jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq \
        mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa \
        re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn \
        to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw
        """.split(separator: " ").map(String.init))

    private static let topLevel: Set = [
        "academy", "aero", "agency", "app", "arpa", "art", "asia", "auto", "bar", "best", "bet",
        "bio", "biz", "blog", "blue", "business", "cafe", "cam", "care", "cat", "center", "chat",
        "city", "click", "cloud", "club", "codes", "com", "community", "company", "computer",
        "consulting", "coop", "data", "day", "design", "dev", "digital", "direct", "dog",
        "domains", "earth", "edu", "education", "email", "energy", "engineer", "estate", "events",
        "exchange", "expert", "family", "farm", "finance", "fit", "foo", "foundation", "fun",
        "fund", "gallery", "game", "games", "gmbh", "gold", "gov", "green", "group", "guide",
        "guru", "health", "host", "house", "how", "icu", "inc", "info", "ink", "institute", "int",
        "international", "jobs", "kim", "land", "law", "legal", "life", "link", "live", "llc",
        "lol", "london", "love", "ltd", "market", "marketing", "media", "men", "mil", "mobi",
        "moe", "mom", "money", "museum", "name", "net", "network", "new", "news", "ngo", "ninja",
        "one", "onion", "online", "org", "page", "partners", "party", "photo", "photos",
        "pictures", "pink", "plus", "post", "press", "pro", "pub", "red", "rest", "review", "rip",
        "rocks", "run", "sale", "school", "science", "services", "shop", "show", "site", "social",
        "software", "solutions", "space", "store", "stream", "studio", "support", "systems",
        "team", "tech", "technology", "tel", "tips", "today", "tools", "top", "town", "trade",
        "travel", "university", "uno", "vip", "vision", "watch", "web", "webcam", "website",
        "wiki", "win", "work", "works", "wtf", "xxx", "xyz", "yoga", "zip", "zone",
    ]

    /// Below the names of countries.
    private static let secondLevel: Set = [
        "ac", "ad", "asn", "co", "com", "ed", "edu", "firm", "gen", "go", "gob", "gouv", "gov",
        "govt", "gv", "id", "ind", "info", "ltd", "me", "mil", "ne", "net", "nhs", "nom", "or",
        "org", "plc", "police", "res", "sch",
    ]

    /// Under which a service gives everybody a host.
    private static let shared: Set = [
        "amazonaws.com", "appspot.com", "azurewebsites.net", "blogspot.com", "cloudapp.net",
        "cloudfront.net", "ddns.net", "deno.dev", "duckdns.org", "dyndns.org", "dynv6.net",
        "firebaseapp.com", "fly.dev", "github.io", "gitlab.io", "herokuapp.com", "home.arpa",
        "hopto.org", "localhost.run", "myfritz.net", "myqnapcloud.com", "netlify.app", "ngrok.app",
        "ngrok.io", "ngrok-free.app", "nip.io", "no-ip.org", "onrender.com", "pages.dev",
        "readthedocs.io", "s3.amazonaws.com", "selfhost.eu", "sslip.io", "synology.me",
        "trycloudflare.com", "ts.net", "vercel.app", "web.app", "wordpress.com", "workers.dev",
        "zapto.org",
    ]
}
