extension String {
    package static let hidden = "[hidden]"

    /// The text with the user and password of each address replaced; the address stays. A password may contain a slash.
    /// Takes time with the square of the length.
    package var hidingLogins: String {
        replacing(/\b([A-Za-z][A-Za-z0-9+.\-]*:\/\/)(?:[^\s\/@"'<>]*|[^\s\/@:"'<>]+:[^\s@"'<>]*)@/) {
            String($0.output.1) + Self.hidden + "@"
        }
    }
}
