import Essentials
import LocalFiles

/// A chat of Codebuff, `<chat>/chat-messages.json`: an array of which the last hundred messages are kept.
///
/// A message states the credits of a whole turn when that has ended, and a clock time without a day: the day is that of
/// the chat's start, which is its name, or of the file.
enum CodebuffChat {
    static let fileName = "chat-messages.json"

    static func content(of data: Data, in file: DirectoryWalk.File) -> CreditFiles.Content {
        var content = CreditFiles.Content()
        let chat = file.path.split(separator: "/").dropLast().last ?? ""
        let time = start(of: chat) ?? file.status.modificationDate
        data.withUnsafeBytes { bytes in
            var cursor = JSONCursor(bytes)
            guard cursor.enterArray() else { return }
            var index = 0
            while cursor.nextElement() {
                guard cursor.enterObject() else { continue }
                var id: JSONCursor.Text?
                var isAnswer = false
                var credits: Double?
                var hasCredits = false
                while let key = cursor.nextKey() {
                    switch key {
                    case "id": id = cursor.text()
                    case "variant": isAnswer = cursor.text().map { $0 == "ai" || $0 == "agent" } ?? false
                    case "credits":
                        credits = cursor.number()
                        hasCredits = true
                    default: cursor.skip()
                    }
                }
                guard !cursor.isFailed else { break }
                index += 1
                guard isAnswer, hasCredits, credits != 0 else { continue }
                var hash = ContentHash()
                hash.add("codebuff")
                hash.add(String(file.path.dropLast(fileName.count)))
                hash.add(id?.hash ?? UInt64(index))
                content.add(CreditUse(id: hash.value, time: time, credits: credits))
            }
        }
        return content
    }

    /// "2026-09-17T10-00-00.000Z".
    private static func start(of chat: Substring) -> Date? {
        guard let time = chat.firstIndex(of: "T") else { return nil }
        return JSONFields.date(text: String(chat[..<time]) + chat[time...].replacing("-", with: ":"))
    }
}
