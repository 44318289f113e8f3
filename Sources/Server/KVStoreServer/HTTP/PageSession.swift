/// How a web page authenticates: by two secrets, of which each alone is worth nothing.
///
/// One is a cookie, which no script, no other site and no other host gets, but every server of this host whatever its
/// port: cookies know no ports. The other is kept by the scripts of the page's origin, which has a port, and is a field
/// of each of their requests.
enum PageSession {
    private static let cookieName = "__Host-ubiquity"
    /// As long as browsers keep a cookie.
    private static let lifetimeSeconds = 400 * 86_400

    /// What the page's scripts get. The cookie is in the fields of the answer.
    struct Document: Encodable {
        var secret: String
    }

    /// Half of a page's token each.
    static func secrets(of token: String) -> (cookie: Substring, secret: Substring) {
        (token.prefix(token.utf8.count / 2), token.dropFirst(token.utf8.count / 2))
    }

    /// The value of an Authorization field that has both.
    static func authorization(cookie: Substring, secret: String) -> String {
        "\(DeviceToken.Kind.page.scheme)\(cookie)\(secret)"
    }

    /// The cookie in the value of a `Cookie` field.
    static func cookie(in field: String) -> Substring? {
        for pair in field.split(separator: ";", maxSplits: 64) {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(cookieName + "=") { return pair.dropFirst(cookieName.utf8.count + 1) }
        }
        return nil
    }

    static func fields(cookie: Substring) -> [(name: String, value: String)] {
        fields(cookie, lifetimeSeconds)
    }

    /// Makes the browser forget the cookie.
    static let removal = fields("", 0)

    private static func fields(_ cookie: Substring, _ seconds: Int) -> [(name: String, value: String)] {
        let attributes = "HttpOnly; Path=/; Secure; SameSite=Strict; Max-Age=\(seconds)"
        return [("Set-Cookie", "\(cookieName)=\(cookie); \(attributes)")]
    }
}
