import UIKit

/// Not for this platform.
@objc class Window: UIWindow {}
