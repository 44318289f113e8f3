/// Lets `kvs set KEY -5 --int` mean what it says: for the parser, whatever starts with a dash is an option.
enum NegativeNumbers {
    /// The arguments of `set` with a negative number put last, behind `--`; all others as they are.
    static func arranged(_ arguments: [String]) -> [String] {
        guard arguments.first == "set", !arguments.contains("--"),
            let index = arguments.lastIndex(where: { $0.hasPrefix("-") && Double($0) != nil }),
            !arguments[index - 1].hasPrefix("--") || flags.contains(arguments[index - 1])
        else { return arguments }
        var result = arguments
        result.append(contentsOf: ["--", result.remove(at: index)])
        return result
    }

    /// Options that take no value, so that what follows one can be the value to store.
    private static let flags: Set<String> = [
        "--int", "--double", "--json", "--string", "--no-sync",
    ]
}
