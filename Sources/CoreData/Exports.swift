// `import CoreData` brings predicates and sort descriptors with it, as it does on Apple's platforms.
@_exported public import Foundation
@_exported public import Predicates
