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

    static func field(token: some StringProtocol) -> (name: String, value: String) {
        cookie(token, lifetimeSeconds)
    }

    /// Makes the browser forget the cookie.
    static let removal = cookie("", 0)

    private static func cookie(
        _ value: some StringProtocol, _ seconds: Int
    ) -> (name: String, value: String) {
        (
            "Set-Cookie",
            "\(name)=\(value); Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=\(seconds)"
        )
    }
}
