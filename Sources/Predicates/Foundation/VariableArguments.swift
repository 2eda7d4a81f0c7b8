public import Foundation

// On Apple's platforms `date as CVarArg` compiles, through the bridge to Objective-C, and is common in code with predicate formats. The
// format initializers here accept any value, but such code must compile too.

/// A value that Swift code may pass as a C argument, as on Apple's platforms.
///
/// A predicate format receives the value itself; `String(format:)` receives its description, which `%@` prints.
public protocol ArgumentListValue: CVarArg, _CVarArgObject {}

extension ArgumentListValue {
    /// The description, which an argument list retains.
    public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

    /// The encoding of the description, for callers that do not use the object.
    public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, ArgumentListValue {}
