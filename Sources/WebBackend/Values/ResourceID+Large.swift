internal import RemoteStore

extension ResourceID {
    /// Creates an identifier from an unsigned 64-bit number that exceeds a signed one; nil for other text.
    ///
    /// The identifier keeps the digits. They are written as a number again if the resource's identifiers are numbers.
    init?(large text: String) {
        guard let number = UInt64(text), number > UInt64(Int64.max), "\(number)" == text else { return nil }
        self = .string(text)
    }
}
