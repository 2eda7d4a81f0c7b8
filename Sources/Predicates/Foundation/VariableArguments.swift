public import Foundation

// On Apple's platforms `date as CVarArg` compiles, through the bridge to Objective-C, and code that fills in predicate formats is full of it.
// Our own format initializers take any value as it is, but such a line must compile before it gets there.

/// A value that Swift code may pass where a C argument is expected, as it may on Apple's platforms.
///
/// A predicate format receives the value itself; `String(format:)` receives its description, which is what `%@` prints.
public protocol ArgumentListValue: CVarArg, _CVarArgObject {}

extension ArgumentListValue {
    /// The description, which keeps itself alive in a C argument list.
    public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

    /// The encoding of the description, for callers that do not ask for the object.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
