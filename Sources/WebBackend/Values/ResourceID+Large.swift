internal import RemoteStore

extension ResourceID {
    /// Creates an identifier from a number of 64 bits without a sign, beyond those that have one; nil for other text.
    ///
    /// It is kept as its digits: they are written as a number again where the resource's identifiers are numbers.
    init?(large text: String) {
        guard let number = UInt64(text), number > UInt64(Int64.max), "\(number)" == text else { return nil }
        self = .string(text)
    }
}
