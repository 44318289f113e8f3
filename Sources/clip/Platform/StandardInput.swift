import Essentials

enum StandardInput {
    /// All of it; nil if there is more than the limit. Blocks until it ends or is over the limit.
    static func read(byteLimit: Int) throws -> Data? {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while data.count <= byteLimit {
            let count = Essentials.read(STDIN_FILENO, &buffer, buffer.count)
            if count == 0 { return data }
            if count > 0 {
                data += buffer.prefix(count)
            } else if errno != EINTR {
                throw SourceError.system("read standard input")
            }
        }
        return nil
    }
}
