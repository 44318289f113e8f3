/// The token of a web page's device: a cookie that no script, no other site and no other host gets.
enum SessionCookie {
    private static let name = "__Host-ubiquity"
    /// As long as browsers keep one.
    private static let lifetimeSeconds = 400 * 86_400

    /// The token in the value of a `Cookie` field.
    static func token(in field: String) -> Substring? {
        for pair in field.split(separator: ";", maxSplits: 64) {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(name + "=") { return pair.dropFirst(name.utf8.count + 1) }
        }
        return nil
    }

    static func fields(token: some StringProtocol) -> [(name: String, value: String)] {
        fields(token, lifetimeSeconds)
    }

    /// Makes the browser forget the cookie.
    static let removal = fields("", 0)

    /// With a second cookie, by which the page's script knows that there is the first, also after a browser has removed
    /// everything that scripts have stored.
    private static func fields(
        _ token: some StringProtocol, _ seconds: Int
    ) -> [(name: String, value: String)] {
        let attributes = "Path=/; Secure; SameSite=Strict; Max-Age=\(seconds)"
        return [
            ("Set-Cookie", "\(name)=\(token); HttpOnly; \(attributes)"),
            ("Set-Cookie", "\(name)-page=1; \(attributes)"),
        ]
    }
}
