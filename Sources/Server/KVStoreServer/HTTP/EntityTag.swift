package enum EntityTag {
    /// The weak comparison (RFC 9110, section 8.8.3.2).
    ///
    /// - Parameter tags: as `If-None-Match` lists them.
    package static func list(_ tags: String, contains tag: String) -> Bool {
        func opaque(_ tag: some StringProtocol) -> Substring {
            let text = tag.drop { $0 == " " || $0 == "\t" }
            return Substring(text.hasPrefix("W/") ? text.dropFirst(2) : text).prefix { $0 != " " && $0 != "\t" }
        }
        let expected = opaque(tag)
        return tags.split(separator: ",").contains { opaque($0) == "*" || opaque($0) == expected }
    }
}
