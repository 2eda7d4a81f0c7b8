#if PostgreSQL
/// A statement with its parameters.
struct Call: Sendable {
    let sql: String
    let parameters: Parameters
    /// Whether it is prepared once for each connection.
    var isPrepared = true

    init(_ sql: String, _ values: [BinaryValue] = []) {
        self.init(sql, Parameters(values))
    }

    private init(_ sql: String, _ parameters: Parameters) { (self.sql, self.parameters) = (sql, parameters) }

    /// Returns the statement, an UPDATE or a DELETE, extended so that it fails, and the transaction with it, unless it writes a number of rows.
    ///
    /// The failure is ``ServerError/isUnexpectedCount``, since no PostgreSQL statement can raise an error without a function.
    func expecting(_ count: Int) -> Call {
        Call("WITH done AS (\(sql) RETURNING 1) SELECT 1 / (count(*) = \(count))::integer FROM done", parameters)
    }

    /// Returns another statement with the parameters of this one, and one more.
    ///
    /// - Parameter text: Returns its text, which has the additional parameter under the given name.
    func appending(_ value: BinaryValue, _ text: (_ name: String) -> String) -> Call {
        var parameters = parameters
        parameters.append(value)
        return Call(text("$\(parameters.types.count)"), parameters)
    }
}
#endif
