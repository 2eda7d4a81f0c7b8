public import Foundation
internal import Predicates

extension NSFetchRequest where ResultType: NSManagedObject {
    /// Creates a request from a `#Predicate` and Swift's sort descriptors.
    ///
    /// ```swift
    /// let request = NSFetchRequest(predicate: #Predicate<Album> { $0.year > 2000 }, sortBy: [SortDescriptor(\.title)])
    /// ```
    ///
    /// The entity is that of the class in the model of the executing context. A predicate that cannot be translated makes the fetch fail
    /// with an error that shows the unsupported part.
    ///
    /// - Parameters:
    ///   - predicate: The predicate of the objects; nil for all.
    ///   - descriptors: The sort descriptors, the most significant first.
    public convenience init(
        predicate: Foundation.Predicate<ResultType>? = nil, sortBy descriptors: [SortDescriptor<ResultType>] = []
    ) {
        self.init()
        self.predicate = predicate.flatMap { NSPredicate($0) }
        sortDescriptors = descriptors.isEmpty ? nil : descriptors.map { NSSortDescriptor($0) }
    }
}
