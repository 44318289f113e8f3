/// Keys of the WebDriver protocol.
extension Character {
    package static let tab: Character = "\u{E004}"
    package static let enter: Character = "\u{E007}"
    package static let escape: Character = "\u{E00C}"
    package static let end: Character = "\u{E010}"
    package static let home: Character = "\u{E011}"
    package static let left: Character = "\u{E012}"
    package static let right: Character = "\u{E014}"
    package static let down: Character = "\u{E015}"
}
