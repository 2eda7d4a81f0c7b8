#if !canImport(ObjectiveC)
/// Calls a closure, as on Apple's platforms, where objects that it autoreleases are released at its end.
///
/// Without Objective-C there is nothing to autorelease: objects are released as soon as they are no longer used. If Foundation has a function
/// of this name one day, it is preferred to this one.
///
/// - Parameter body: The closure.
/// - Returns: What the closure returns.
/// - Throws: What the closure throws.
@_disfavoredOverload
@inlinable
public func autoreleasepool<Failure: Error, Result: ~Copyable>(invoking body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try body()
}
#endif
